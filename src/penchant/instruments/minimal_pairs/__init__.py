"""Minimal pairs and fair minimal pairs."""
