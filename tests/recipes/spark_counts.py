"""Count the samples of a Spark data frame, and score the counts. Needs pyspark and Java."""

import at_k
from pyspark.sql import SparkSession, functions

spark = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").getOrCreate()
samples = spark.range(4000).select(
    (functions.col("id") / 4).cast("long").alias("question_id"),
    (functions.col("id") % 3 == 0).alias("passed"),
)
counts = samples.groupBy("question_id").agg(
    functions.count("*").alias("n"),
    functions.sum(functions.col("passed").cast("long")).alias("correct"),
)

scores = at_k.load("gpassk").compute(**at_k.read(counts), k=[1, 4], include=["pass@k"])
assert {key: round(score, 12) for key, score in scores.items()} == {
    "pass@1": 0.3335,
    "pass@4": 1.0,
}, scores
spark.stop()
