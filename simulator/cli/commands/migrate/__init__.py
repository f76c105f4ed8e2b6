"""`rebind migrate`: a stopped node's bindings between its checkpoint file and the database."""
