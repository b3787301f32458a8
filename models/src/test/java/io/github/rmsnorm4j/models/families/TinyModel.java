package io.github.rmsnorm4j.models.families;

import java.util.LinkedHashMap;
import java.util.Map;

/**
 * A model in Hugging Face's layout, in memory.
 *
 * @param config the fields of {@code config.json}
 * @param tensors the tensors by name, in the order of the file
 */
record TinyModel(Map<String, Object> config, Map<String, Values> tensors) {
  TinyModel {
    config = new LinkedHashMap<>(config);
    tensors = new LinkedHashMap<>(tensors);
  }

  String type() {
    return (String) config.get("model_type");
  }

  double number(String key) {
    if (config.get(key) instanceof Number number) {
      return number.doubleValue();
    }
    throw new IllegalArgumentException("config.json lacks the number " + key);
  }

  int count(String key) {
    return (int) number(key);
  }

  boolean flag(String key) {
    if (config.get(key) instanceof Boolean flag) {
      return flag;
    }
    throw new IllegalArgumentException("config.json lacks the flag " + key);
  }

  boolean has(String tensor) {
    return tensors.containsKey(tensor);
  }

  Values get(String tensor) {
    Values values = tensors.get(tensor);
    if (values == null) {
      throw new IllegalArgumentException("there is no " + tensor + " in " + tensors.keySet());
    }
    return values;
  }

  /** The elements of a tensor, or null if it is not there. */
  double[] elementsOrNull(String tensor) {
    return has(tensor) ? get(tensor).elements() : null;
  }

  /** The same numbers in another type, which must hold them; buffers of integers stay. */
  TinyModel withFloats(StoredType type) {
    TinyModel copy = new TinyModel(config, tensors);
    copy.tensors.replaceAll(
        (_, values) ->
            values.type() == StoredType.U8
                ? values
                : new Values(type, values.shape(), values.elements()));
    return copy;
  }

  /** A model with another tensor in place of one, or a further one. */
  TinyModel with(String tensor, Values values) {
    TinyModel copy = new TinyModel(config, tensors);
    copy.tensors.put(tensor, values);
    return copy;
  }

  TinyModel without(String tensor) {
    TinyModel copy = new TinyModel(config, tensors);
    copy.tensors.remove(tensor);
    return copy;
  }

  TinyModel with(String key, Object value) {
    TinyModel copy = new TinyModel(config, tensors);
    copy.config.put(key, value);
    return copy;
  }

  /** A model with some tensors as another model has them. */
  TinyModel restored(TinyModel other, String... names) {
    TinyModel copy = new TinyModel(config, tensors);
    for (String name : names) {
      copy.tensors.put(name, other.get(name));
    }
    return copy;
  }
}
