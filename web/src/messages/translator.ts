// The app's texts: one file a screen beside this one, in English and in ICU message syntax. `t("key", { … })` is typed by
// the text itself: a wrong key or a missing parameter does not compile. Limit: the language is that of the page load.
import { createTranslator } from "use-intl/core";

import { language, texts } from "./language";

/** Make the `t` of one screen; where a translation lacks a text, the English one shows. */
export function translator<const Texts extends Record<string, string>>(screen: string, english: Texts) {
  return createTranslator<Texts>({
    locale: language,
    messages: { ...english, ...texts[screen] } as Texts,
    onError(error) {
      throw error; // types rule it out, so it is a defect: a test or the error page shows it
    },
  });
}
