"""What expectations look at in a run, and how what is seen is compared with what is expected."""
