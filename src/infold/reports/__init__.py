"""The pages of all reports: one builder, one style, light and dark, from a telephone to a desk."""
