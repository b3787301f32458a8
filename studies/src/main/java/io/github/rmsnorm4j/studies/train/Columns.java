package io.github.rmsnorm4j.studies.train;

import io.github.rmsnorm4j.report.Table;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;

/**
 * The columns of a table, each with its title and what it shows of a row's subject.
 *
 * @param <T> the subject of a row
 */
final class Columns<T> {
  final List<String> titles = new ArrayList<>();
  private final List<Function<T, String>> cells = new ArrayList<>();

  Columns<T> with(String title, Function<T, String> cell) {
    titles.add(title);
    cells.add(cell);
    return this;
  }

  List<String> row(T subject) {
    return cells.stream().map(cell -> cell.apply(subject)).toList();
  }

  /** As a table of a page; its first columns are words, the others numbers. */
  Table table(String title, int words, List<T> subjects) {
    Table table = Table.titled(title);
    for (String word : titles.subList(0, words)) {
      table = table.text(word);
    }
    for (String number : titles.subList(words, titles.size())) {
      table = table.number(number);
    }
    for (T subject : subjects) {
      table = table.row(row(subject).toArray(String[]::new));
    }
    return table;
  }
}
