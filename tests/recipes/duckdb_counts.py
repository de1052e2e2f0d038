"""Count the samples of a large file with DuckDB, and score the counts. Needs duckdb."""

import at_k
import duckdb

counts = duckdb.sql("""
    SELECT question_id, count(*) AS n, sum(correct::int)::bigint AS correct
    FROM (SELECT i // 4 AS question_id, i % 3 = 0 AS correct FROM range(4000) AS samples(i))
    GROUP BY question_id
    ORDER BY question_id
""")

scores = at_k.load("gpassk").compute(**at_k.read(counts), k=[1, 4], include=["pass@k"])
assert scores == {"pass@1": 0.3335, "pass@4": 1.0}, scores
