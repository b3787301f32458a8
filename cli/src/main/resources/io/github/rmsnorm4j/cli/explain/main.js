"use strict";
// Starts the page: its language, its row, its sections, and how it follows the window and its address.

// What the reader or the address chose; null as long as the browser's language is shown.
let chosenLanguage = address.isThere(address.value("language")) ? address.value("language") : null;

function show(language) {
  document.documentElement.lang = language;
  texts.putAll();
}

function startLanguages() {
  const select = find("language");
  Object.keys(texts.all).forEach((language) =>
    select.append(new Option(texts.all[language].name, language)));
  // A page that was written in a language of its own keeps it.
  const own = select.dataset.own === undefined ? null : document.documentElement.lang;
  document.documentElement.lang = chosenLanguage ?? own ?? address.language() ?? document.documentElement.lang;
  select.value = document.documentElement.lang;
  select.addEventListener("change", () => {
    chosenLanguage = select.value;
    show(chosenLanguage);
    update();
  });
}

function startRow() {
  const row = address.row(LONGEST_ROW);
  if (row !== null) setRow(row);
}

startLanguages();
startRow();
startSections();
startFormats();
startTensors();
texts.putAll();
views.push(() => address.write(chosenLanguage));
update();
address.scroll();
window.addEventListener("resize", update);
window.addEventListener("hashchange", () => address.write(chosenLanguage));
