package io.github.rmsnorm4j.studies;

import io.github.rmsnorm4j.cli.Commands;
import java.util.List;

/** The commands of this module. */
public final class Studies implements Commands {
  /** For the service loader. */
  public Studies() {}

  @Override
  public List<Object> commands() {
    return List.of(new Compare(), new Train(), new Story());
  }
}
