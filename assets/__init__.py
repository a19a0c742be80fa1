"""What the add-on ships besides code paths: presets, icons and the demo's builder."""
