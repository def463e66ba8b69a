"""Two runs compared: origins, their pages that differ, and the lines and links of one."""
