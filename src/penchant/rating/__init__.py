"""Collection of human ratings: a web page that shows one item at a time, and a database of the answers.

`tasks` describes the task, `item_order` orders its items, `judgement_store` keeps answers in a `database_file`, `pages`
and `server` show items, `owner_summary` reports to the owner, and `offline_page` works without a server.
"""
