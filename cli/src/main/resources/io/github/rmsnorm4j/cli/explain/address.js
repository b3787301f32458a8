"use strict";
// The page's address holds the section, the language and the row: #row&language=ko&row=1,2,3,4. So a reload keeps
// what the reader chose, and a link shows it to others.

const address = (() => {
  const FIRST_ROW = String(state.row);

  function parts() {
    return location.hash.slice(1).split("&");
  }

  function value(name) {
    const part = parts().find((p) => p.startsWith(`${name}=`));
    return part === undefined ? null : part.slice(name.length + 1);
  }

  function section() {
    return parts().find((p) => p !== "" && !p.includes("=")) ?? null;
  }

  // The language of the address, or else the first of the browser's that the page has.
  function language() {
    const wanted = [value("language"), ...navigator.languages.map((name) => name.split("-")[0])];
    return wanted.find(isThere) ?? null;
  }

  function isThere(language) {
    return Object.hasOwn(texts.all, language);
  }

  // The row of the address, if all of it are float32 numbers and there are not too many.
  function row(longest) {
    const numbers = (value("row") ?? "").split(/,|%2C/).map((text) => (text.trim() === "" ? NaN : Math.fround(text)));
    return numbers.length <= longest && numbers.every(Number.isFinite) ? numbers : null;
  }

  // Written after each change; a link to a section is followed first.
  function write(chosenLanguage) {
    const row = state.row.map(short).join(",");
    const all = [
      section(),
      chosenLanguage === null ? null : `language=${chosenLanguage}`,
      row === FIRST_ROW ? null : `row=${row}`,
    ].filter((part) => part !== null);
    const hash = all.length === 0 ? "" : `#${all.join("&")}`;
    if (hash !== location.hash) history.replaceState(null, "", hash === "" ? location.pathname : hash);
  }

  function scroll() {
    const target = section() === null ? null : find(section());
    if (target !== null) target.scrollIntoView();
  }

  return { isThere, language, row, scroll, value, write };
})();
