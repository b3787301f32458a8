package io.github.rmsnorm4j.studies.train;

/** What a training is for. */
public enum Stage {
  /** To choose a rate; its seeds are not used again. */
  TUNING,
  /** To be reported. */
  REPORTED
}
