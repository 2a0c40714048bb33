"""The papers that penchant implements: claims, studies, and tables in their layout, beside what is printed."""
