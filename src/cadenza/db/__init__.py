"""The product's tables: one numbered set of migrations for both databases."""
