"""Amplification: does a model say more than the text it was trained on?"""
