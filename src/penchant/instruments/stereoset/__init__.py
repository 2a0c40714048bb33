"""StereoSet: a model's preference for stereotypes and for meaningful sentences."""
