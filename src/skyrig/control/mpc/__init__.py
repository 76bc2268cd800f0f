"""Model predictive control: every vehicle and the load plan a little ahead, and tell each other."""
