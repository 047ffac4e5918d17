// Posts come in from a file, a whole workspace leaves as one.
import { Stack } from "@mantine/core";

import { useMay } from "../../api/me";
import { Page } from "../../ui/Page";
import { Export } from "./Export";
import { Import } from "./Import";
import { t } from "../../messages/data";

export default function Data() {
  const [editor, admin] = [useMay("editor"), useMay("admin")];
  return (
    <Page title={t("importAndExport")} message={t("bringInPostsFromASpreadsheet")}>
      <Stack>
        <Import mayImport={editor} />
        <Export mayExport={admin} />
      </Stack>
    </Page>
  );
}
