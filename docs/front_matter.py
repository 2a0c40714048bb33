"""Write the front matter of a generated page: the description that search engines and the site's pages show."""


def front_matter(description: str) -> str:
    return f'---\nmyst:\n  html_meta:\n    description: "{description}"\n---\n'
