"use strict";
// Starts the page: its language, its sections, and how it follows the window.

function startLanguages() {
  const select = find("language");
  Object.keys(texts.all).forEach((language) =>
    select.append(new Option(texts.all[language].name, language)));
  select.value = document.documentElement.lang;
  select.addEventListener("change", () => {
    document.documentElement.lang = select.value;
    texts.putAll();
    update();
  });
}

startLanguages();
startSections();
startFormats();
startTensors();
texts.putAll();
update();
window.addEventListener("resize", update);
