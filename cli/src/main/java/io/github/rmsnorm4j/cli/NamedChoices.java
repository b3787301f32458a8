package io.github.rmsnorm4j.cli;

import io.github.rmsnorm4j.CastOrder;
import io.github.rmsnorm4j.EpsilonPlacement;
import io.github.rmsnorm4j.ResidualRounding;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** What an option may be: values by their names on the command line. */
abstract class NamedChoices<T> implements ITypeConverter<T>, Iterable<String> {
  static final class Orders extends NamedChoices<CastOrder> {
    @Override
    Map<String, CastOrder> values() {
      return byName(CastOrder.values());
    }
  }

  static final class Placements extends NamedChoices<EpsilonPlacement> {
    @Override
    Map<String, EpsilonPlacement> values() {
      return byName(EpsilonPlacement.values());
    }
  }

  static final class Roundings extends NamedChoices<ResidualRounding> {
    @Override
    Map<String, ResidualRounding> values() {
      return byName(ResidualRounding.values());
    }
  }

  /** Made when they are asked for: picocli makes an object of this class at every start. */
  abstract Map<String, T> values();

  private static <E extends Enum<E>> Map<String, E> byName(E[] constants) {
    Map<String, E> values = new LinkedHashMap<>();
    for (E constant : constants) {
      values.put(lowerCase(constant), constant);
    }
    return values;
  }

  /** A constant of the library in lower case, with hyphens. */
  static String lowerCase(Enum<?> constant) {
    return constant.name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  @Override
  public final T convert(String name) {
    Map<String, T> values = values();
    if (!values.containsKey(name)) {
      throw new TypeConversionException(
          "expected one of " + values.keySet() + " but was '" + name + "'");
    }
    return values.get(name);
  }

  @Override
  public final Iterator<String> iterator() {
    return values().keySet().iterator();
  }
}
