import { IconPlugConnected } from "@tabler/icons-react";

import { Empty } from "../../ui/Empty";
import { Page } from "../../ui/Page";

export default function Accounts() {
  return (
    <Page title="Accounts">
      <Empty icon={IconPlugConnected} title="Nothing here yet">
        Accounts are on its way.
      </Empty>
    </Page>
  );
}
