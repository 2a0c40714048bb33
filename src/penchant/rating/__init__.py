"""Collection of human ratings: a web page that shows one item at a time, and a database of the answers.

`tasks` defines the task, `item_order` orders its items, `judgement_store` stores answers in a `database_file`, `pages`
and `server` show items, `owner_summary` summarises the answers for the owner, and `offline_page` writes pages that need
no server.
"""
