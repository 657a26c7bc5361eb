"""Small reusable layers that know no model."""
