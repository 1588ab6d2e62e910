"""What every HTTP server of the product has in common: who may ask, how much, and for how long."""
