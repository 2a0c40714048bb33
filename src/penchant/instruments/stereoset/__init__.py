"""StereoSet: does a model prefer stereotypes, and does it prefer sentences that mean something?"""
