"""A plugin that offers device nodes, or other files, by their paths."""
