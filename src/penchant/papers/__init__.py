"""The papers that penchant implements: claims, studies, and tables in the papers' layout with the printed numbers."""
