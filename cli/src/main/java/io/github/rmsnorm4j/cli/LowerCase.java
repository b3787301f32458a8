package io.github.rmsnorm4j.cli;

import io.github.rmsnorm4j.CastOrder;
import io.github.rmsnorm4j.EpsilonPlacement;
import io.github.rmsnorm4j.ResidualRounding;
import java.util.Iterator;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** An enum of the library on the command line: its constants in lower case, with hyphens. */
abstract class LowerCase<E extends Enum<E>> implements ITypeConverter<E>, Iterable<String> {
  private final Class<E> type;

  private LowerCase(Class<E> type) {
    this.type = type;
  }

  static final class Orders extends LowerCase<CastOrder> {
    Orders() {
      super(CastOrder.class);
    }
  }

  static final class Placements extends LowerCase<EpsilonPlacement> {
    Placements() {
      super(EpsilonPlacement.class);
    }
  }

  static final class Roundings extends LowerCase<ResidualRounding> {
    Roundings() {
      super(ResidualRounding.class);
    }
  }

  static String of(Enum<?> constant) {
    return constant.name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  @Override
  public E convert(String name) {
    return Stream.of(type.getEnumConstants())
        .filter(constant -> of(constant).equals(name))
        .findFirst()
        .orElseThrow(
            () ->
                new TypeConversionException(
                    "expected one of " + names() + " but was '" + name + "'"));
  }

  @Override
  public Iterator<String> iterator() {
    return names().iterator();
  }

  private List<String> names() {
    return Stream.of(type.getEnumConstants()).map(LowerCase::of).toList();
  }
}
