import { NetworkIcon } from "../../ui/NetworkIcon";
import { clock } from "../../ui/times";
import { standing, stateWord } from "../../ui/words";
import type { Shown } from "./events";
import { t } from "../../messages/calendar";

/** One thing on a day: a post, a free slot, a draft in the hand, or the word that clocks change. */
export function EventContent({ shown, zone }: { shown: Shown; zone: string }) {
  switch (shown.kind) {
    case "clocks":
      return <div className="calendar-entry" data-kind="clocks">{shown.message}</div>;
    case "draft":
      return <div className="calendar-entry" data-kind="draft">{shown.title}</div>;
    case "ghost":
      return (
        <div className="calendar-entry" data-kind="ghost" title={t("freeSlotHandle", { handle: shown.handle })}>
          <span className="calendar-when">{t("timeFree", { time: clock(shown.ghost.at, zone) })}</span> <span className="calendar-words">{shown.handle}</span>
        </div>
      );
    case "entry": {
      const { pill, title, text } = shown.entry;
      const stands = standing(pill);
      const [state, words] = [pill.unfit === null ? stateWord(stands).message : t("cantBeSent"), title || text];
      return (
        <div className="calendar-entry" data-kind="entry" data-state={stands} title={`${pill.handle}, ${state}: ${words}`}>
          <span className="calendar-when">
            <NetworkIcon of={pill.channel} size={13} />
            {clock(pill.at, zone)}
            {(stands !== "scheduled" || pill.unfit !== null) && ` · ${state}`}
          </span>{" "}
          <span className="calendar-words">{words}</span>
        </div>
      );
    }
  }
}
