"""Moving a node's bindings from the checkpoint file to the database and back.

    checkpoint <-> imported <-> dualWrite <-> databasePrimary <-> database

| phase             | a start believes | written      | what is there                              |
|-------------------|------------------|--------------|--------------------------------------------|
| `checkpoint`      | the file         | the file     | rows only of the past                      |
| `imported`        | the file         | the file     | rows as they were imported, maybe outdated |
| `dualWrite`       | the file         | both         | both, compared after every change          |
| `databasePrimary` | the database     | both         | both, compared after every change          |
| `database`        | the database     | the database | the file is set aside, not deleted         |

The phase is a row of the database, so one transaction moves a node on. `phases` alone tells what it
means, to kubelets that start and to the commands. Every move goes to a neighbour, the other way is
a move as well, and each may be broken off between any two effects and be made again:

- into `imported` and from there into `dualWrite`: the import and the phase are one transaction; for
  `dualWrite` the file is written once more before, so that its name is durable too (W10);
- into `databasePrimary`: the phase, once file and rows are the same;
- into `database`: first the file is set aside, then the phase; so no file lies at its place that is
  not written any more. Broken off between: the phase says that both are written, the file is
  missing, and the database, which is believed, has everything;
- out of `database`: first the phase, then the file; broken off between, as above;
- out of `databasePrimary`: the phase, once file and rows are the same;
- out of `dualWrite`: the phase; rows are not written any more;
- out of `imported`: rows end and the phase changes in one transaction. Their history stays.

While both are written nothing is announced before both have it, so each side has every announced
binding, and what only one has was not announced, or is being released. That is why a side that
cannot be read does no harm: the other one is believed (`agreement`), whatever the phase says. In
`imported` the file alone counts, in `database` the database; there a damaged one stays damaged.
"""
