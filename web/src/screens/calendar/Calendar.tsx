import { IconCalendar } from "@tabler/icons-react";

import { Empty } from "../../ui/Empty";
import { Page } from "../../ui/Page";

export default function Calendar() {
  return (
    <Page title="Calendar">
      <Empty icon={IconCalendar} title="Nothing here yet">
        The calendar is on its way.
      </Empty>
    </Page>
  );
}
