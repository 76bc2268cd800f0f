"""What `world:` says of each element, one file each."""
