// Before the page is drawn: the theme that was chosen, else the system's.
"use strict";
const chosen = localStorage.getItem("theme");
if (chosen) document.documentElement.dataset.theme = chosen;
