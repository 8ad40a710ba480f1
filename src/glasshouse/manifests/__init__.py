"""Manifests: creatures as data, checked."""
