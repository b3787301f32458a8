package io.github.rmsnorm4j.models.transformer;

import io.github.rmsnorm4j.formats.FormatException;
import io.github.rmsnorm4j.models.internal.ConfigFields;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * What a {@code config.json} says of the rotation of heads: in fields of its own, or in an object,
 * as newer files have it.
 */
record RotationFields(ConfigFields fields) {
  /** Names of the object; older files have the second. */
  private static final List<String> OBJECTS = List.of("rope_parameters", "rope_scaling");

  /**
   * A number. It has several names, of which more than one may be there, and programs differ in
   * which they believe, so those that are there must agree.
   *
   * @param setting its name in an object of the rotation, and outside one
   * @param olderNames other names outside an object
   */
  double number(double absent, String setting, String... olderNames) throws FormatException {
    List<String> names = new ArrayList<>(List.of(olderNames));
    names.add(setting);
    OBJECTS.forEach(object -> names.add(object + "." + setting));
    names.removeIf(name -> !fields.has(name));
    double value = names.isEmpty() ? absent : fields.number(names.getFirst(), null);
    for (String name : names) {
      if (fields.number(name, null) != value) {
        throw fields.wrong(
            name, fields.number(name, null), "be as " + names.getFirst() + ", " + value);
      }
    }
    return value;
  }

  /**
   * Refuses whatever the object says except its base.
   *
   * @param partial whether a share of each head may be rotated
   */
  void refuseOthers(boolean partial) throws FormatException {
    for (String object : OBJECTS) {
      if (fields.get(object) instanceof Map<?, ?> settings) {
        for (Object setting : new TreeMap<>(settings).keySet()) {
          refuseOther(object, setting.toString(), partial);
        }
      } else if (fields.has(object)) {
        throw fields.error("has " + object + ", which is not supported");
      }
    }
  }

  private void refuseOther(String object, String setting, boolean partial) throws FormatException {
    String name = object + "." + setting;
    switch (setting) {
      case "rope_theta" -> fields.number(name, null);
      case "rope_type", "type" -> {
        if (!fields.text(name, null).equals("default")) {
          throw fields.wrong(name, fields.get(name), "be default");
        }
      }
      case "partial_rotary_factor" -> {
        if (fields.number(name, null) != 1 && !partial) {
          throw fields.wrong(name, fields.get(name), "be 1");
        }
      }
      default -> throw fields.error("has " + name + ", which is not supported");
    }
  }
}
