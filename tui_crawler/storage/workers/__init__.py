"""Who works on a database: sessions, their leases on origins, heartbeats, and the journal of operators.

A session that stops renewing its lease loses its origins; see docs/scale.md."""
