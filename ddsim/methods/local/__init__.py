"""The DiLoCo family: one protocol over arrays, what drives it, and what it hands over."""
