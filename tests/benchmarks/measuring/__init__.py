"""Running churn profiles."""
