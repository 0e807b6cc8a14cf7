"""The scenarios that ship with ddsim, one YAML file each."""
