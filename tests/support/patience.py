"""How long a test waits for another thread or process before it fails: who waits so long waits in vain, however busy
the machine is."""

PATIENT_S = 200
