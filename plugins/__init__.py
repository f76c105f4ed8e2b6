"""Device plugins that Rebind brings along."""
