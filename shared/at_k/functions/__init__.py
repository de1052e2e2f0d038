"""The scores as plain functions of already-graded outcomes.

All functions follow these conventions. The docstrings of the functions state only what differs.

Args:
    R: outcomes of M questions: an (M, N) array, a nested list, or a ragged nested list with n_i
        samples of question i. A flat list is one question, and so is each row of a data frame. An
        outcome is 0 (incorrect) or 1 (correct), given as an integer, a bool or a float. Samples
        that are None, masked in a masked array, or NA in a data frame are not scored.
    k: number of samples that are drawn. A point estimate requires k <= n_i for each question.
    confidence: probability that the interval covers the true value, between 0 and 1.
    bounds: (lo, hi), to which the confidence limits are clipped, or None for no clipping.
    alpha0: first parameter of the Beta prior on the success rate of each question, positive.
    beta0: second parameter of the same prior, positive.

Returns:
    A point estimate is a float from 0 to 1. Unless the function says otherwise, it is the mean over
    questions of an unbiased estimate. No random numbers are used.

    A function `<name>_ci` returns (mu, sigma, lo, hi). The success rate p of each question has a
    Beta(alpha0, beta0) prior, and mu and sigma are the posterior mean and standard deviation of the
    score of k new samples, averaged over questions. The interval is the normal approximation
    mu -+ z sigma (Hariri et al. 2026, arXiv:2510.04265).

    k may exceed n_i only in the functions of this kind that are defined for any number of new
    samples: max_at_k_ci, threshold_spectrum_at_k_ci, and those of geometric combinations.

Raises:
    ValueError: if an outcome or a parameter is invalid. The message names the entry (`R[3][7]`),
        the question or the parameter, and says what would be valid.
"""
