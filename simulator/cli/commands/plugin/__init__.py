"""`rebind plugin`: the device plugins that Rebind brings along."""
