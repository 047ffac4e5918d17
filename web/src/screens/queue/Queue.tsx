import { IconStack2 } from "@tabler/icons-react";

import { Empty } from "../../ui/Empty";
import { Page } from "../../ui/Page";

export default function Queue() {
  return (
    <Page title="Queue">
      <Empty icon={IconStack2} title="Nothing here yet">
        The queue is on its way.
      </Empty>
    </Page>
  );
}
