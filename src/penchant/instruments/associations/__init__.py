"""WEAT, SEAT, CEAT and the log-probability bias score."""
