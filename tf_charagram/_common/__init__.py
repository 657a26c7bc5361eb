"""What all rooms use: lazy imports, checks of settings, devices, tables on the screen."""
