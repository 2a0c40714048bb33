"""StereoSet: a model's preference for stereotypes, and for sentences that mean something."""
