"""What commands draw on the screen."""
