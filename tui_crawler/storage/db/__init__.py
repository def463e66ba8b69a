"""The database: how it is opened, its transactions, the writer and the readers.

One writer for each process commits groups of transactions; readers use connections of their own."""
