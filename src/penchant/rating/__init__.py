"""People who judge: a page that shows one item at a time, and the database that keeps what was said.

`tasks` says what is asked, `plan` in which order, `store` keeps it in a `database`, `pages` and `server` show it,
`summary` is what the owner sees, `onepage` does without a server.
"""
