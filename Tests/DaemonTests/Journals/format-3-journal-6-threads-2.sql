-- A journal of format 3 with snapshots of the forms threads 2 and users 2, written by the program whose threads and users are
-- tables, on the journal with the form people 2.
PRAGMA auto_vacuum = INCREMENTAL;
PRAGMA application_id = 1651401834;
PRAGMA user_version = 3;
PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
CREATE TABLE event (
  seq      INTEGER PRIMARY KEY,
  time     INTEGER NOT NULL,
  stream   TEXT NOT NULL,
  version  INTEGER NOT NULL,
  previous INTEGER NOT NULL,
  type     TEXT NOT NULL,
  data     TEXT NOT NULL,
  command  TEXT,
  meta     TEXT,
  crc      INTEGER NOT NULL
) STRICT;
INSERT INTO event VALUES(1,1795335865744569,'cells/lamp',1,0,'cells.set','{"value":true}','c-1','{"uid":0,"pid":5306,"method":"cells.set","call":"8ae02e304ab880ce","value":true}',699846882);
INSERT INTO event VALUES(2,1795335865744926,'cells/count',1,0,'cells.set','{"value":5}','c-2','{"uid":0,"pid":5306,"method":"cells.add","call":"5365e60cca254341","value":5}',1377784148);
INSERT INTO event VALUES(3,1795335865745114,'cells/text',1,0,'cells.set','{"value":"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"}','c-3','{"uid":0,"pid":5306,"method":"cells.set","call":"b5e3ef0116eb6501","value":"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"}',1098659033);
INSERT INTO event VALUES(22,1795335868640760,'cells/last',1,0,'cells.set','{"value":1}',NULL,'{"uid":0,"pid":5337,"method":"cells.set"}',417550323);
INSERT INTO event VALUES(23,1795335868663959,'daemon',1,0,'daemon.compacted','{"from":4,"to":21,"count":18}',NULL,'{"uid":0,"pid":5294,"method":"journal.compact"}',2943078845);
INSERT INTO event VALUES(24,1795657673279797,'cells/forgotten',1,0,'cells.set','{"value":1}',NULL,'{"uid":0,"pid":20441,"method":"set","program":"bindctl"}',2097854411);
INSERT INTO event VALUES(25,1795657673851653,'cells/forgotten',2,24,'cells.removed','{}',NULL,'{"uid":0,"pid":20456,"method":"cells.remove","program":"bindctl"}',2125181997);
INSERT INTO event VALUES(26,1795657674694646,'cells/last',2,22,'cells.set','{"value":2}',NULL,'{"uid":0,"pid":20471,"method":"set","program":"bindctl"}',3780956490);
INSERT INTO event VALUES(27,1795705857980007,'todo/1',1,0,'todo.added','{"title":"bread"}',NULL,'{"uid":0,"pid":13744,"method":"todo.add","program":"bindctl"}',3259608699);
INSERT INTO event VALUES(28,1795705858014539,'todo/1',2,27,'todo.finished','{}',NULL,'{"uid":0,"pid":13747,"method":"todo.finish","program":"bindctl"}',4155412274);
INSERT INTO event VALUES(29,1795714224196606,'people/1',2,12,'people.colored','{"color":"#1e90ff"}',NULL,'{"uid":0,"pid":2752,"method":"people.color","program":"bindctl"}',2731863162);
INSERT INTO event VALUES(30,1795743158915366,'threads/1',4,15,'threads.posted','{"post":2,"author":0,"body":"black","name":"kim"}',NULL,'{"uid":0,"pid":20383,"method":"threads.post","program":"bindctl"}',117480898);
INSERT INTO event VALUES(31,1795743158924274,'users/kim',3,21,'users.edited','{"full_name":"Kim K","about":"tea"}',NULL,'{"uid":0,"pid":20384,"method":"users.edit","program":"bindctl"}',4228148366);
CREATE TABLE snapshot (
  service TEXT NOT NULL,
  seq     INTEGER NOT NULL,
  part    INTEGER NOT NULL,
  parts   INTEGER NOT NULL,
  schema  INTEGER NOT NULL,
  data    TEXT NOT NULL,
  crc     INTEGER NOT NULL,
  PRIMARY KEY (service, seq, part)
) STRICT, WITHOUT ROWID;
INSERT INTO snapshot VALUES('bindings',26,0,1,1,'{"expressions":{"bindings/k":"cells/lamp ~> cells/copy"}}',4142401508);
INSERT INTO snapshot VALUES('bindings',29,0,1,1,'{"expressions":{"bindings/k":"cells/lamp ~> cells/copy"}}',4142401508);
INSERT INTO snapshot VALUES('bindings',31,0,1,1,'{"expressions":{"bindings/k":"cells/lamp ~> cells/copy"}}',4142401508);
INSERT INTO snapshot VALUES('cells',26,0,1,2,'{"cells/last":2,"cells/text":"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx","cells/count":5,"cells/lamp":false,"cells/copy":false}',3185864994);
INSERT INTO snapshot VALUES('cells',29,0,1,2,'{"cells/last":2,"cells/text":"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx","cells/count":5,"cells/lamp":false,"cells/copy":false}',3185864994);
INSERT INTO snapshot VALUES('cells',31,0,1,2,'{"cells/last":2,"cells/text":"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx","cells/count":5,"cells/lamp":false,"cells/copy":false}',3185864994);
INSERT INTO snapshot VALUES('chat',26,0,1,1,'{"rooms":{"1":{"id":1,"name":"lobby","topic":"all","creator":"kim","members":{"kim":1},"count":1}},"messages":{"1":[{"id":1,"author":"kim","text":"hello","time":1795335866272674,"edited":false,"removed":false}]},"lastRoom":1}',454107818);
INSERT INTO snapshot VALUES('chat',29,0,1,1,'{"rooms":{"1":{"id":1,"name":"lobby","topic":"all","creator":"kim","members":{"kim":1},"count":1}},"messages":{"1":[{"id":1,"author":"kim","text":"hello","time":1795335866272674,"edited":false,"removed":false}]},"lastRoom":1}',454107818);
INSERT INTO snapshot VALUES('chat',31,0,1,1,'{"rooms":{"1":{"id":1,"name":"lobby","topic":"all","creator":"kim","members":{"kim":1},"count":1}},"messages":{"1":[{"id":1,"author":"kim","text":"hello","time":1795335866272674,"edited":false,"removed":false}]},"lastRoom":1}',454107818);
INSERT INTO snapshot VALUES('daemon',26,0,1,1,'{"lastCompaction":{"from":4,"to":21,"count":18,"time":1795335868663959},"removedCount":18}',181885334);
INSERT INTO snapshot VALUES('daemon',29,0,1,1,'{"lastCompaction":{"from":4,"to":21,"count":18,"time":1795335868663959},"removedCount":18}',181885334);
INSERT INTO snapshot VALUES('daemon',31,0,1,1,'{"lastCompaction":{"from":4,"to":21,"count":18,"time":1795335868663959},"removedCount":18}',181885334);
INSERT INTO snapshot VALUES('feeds',26,0,1,1,'{"news":{"url":"https://feeds.example/a.xml","validators":{},"episodes":[],"lastID":0,"unplayed":0}}',1811749899);
INSERT INTO snapshot VALUES('feeds',29,0,1,1,'{"news":{"url":"https://feeds.example/a.xml","validators":{},"episodes":[],"lastID":0,"unplayed":0}}',1811749899);
INSERT INTO snapshot VALUES('feeds',31,0,1,1,'{"news":{"url":"https://feeds.example/a.xml","validators":{},"episodes":[],"lastID":0,"unplayed":0}}',1811749899);
INSERT INTO snapshot VALUES('journal',26,0,1,6,'{"heads":{"cells/last":[26,2],"cells/text":[3,1],"cells/count":[2,1],"cells/lamp":[6,2,0],"cells/copy":[11,1],"chat/rooms/1/messages":[20,1],"maps/hosts":[9,1],"readers/mailer":[16,1],"feeds/news":[17,1],"daemon":[23,1],"people/1":[12,1],"chat/rooms/1":[19,1],"threads/1":[15,3],"bindings/k":[10,1],"users/kim":[21,2],"lists/todo":[8,2],"cells/forgotten":[25,2]},"floors":{"cells":2},"window":{"0":[["c-1",1,1,1795335865744569,"8ae02e304ab880ce",true],["c-2",2,1,1795335865744926,"5365e60cca254341",5],["c-3",3,1,1795335865745114,"b5e3ef0116eb6501",null,true]]}}',2008260594);
INSERT INTO snapshot VALUES('journal',29,0,1,6,'{"heads":{"cells/last":[26,2],"cells/text":[3,1],"cells/count":[2,1],"cells/lamp":[6,2,0],"cells/copy":[11,1],"chat/rooms/1/messages":[20,1],"maps/hosts":[9,1],"readers/mailer":[16,1],"feeds/news":[17,1],"daemon":[23,1],"people/1":[29,2],"chat/rooms/1":[19,1],"threads/1":[15,3],"bindings/k":[10,1],"users/kim":[21,2],"lists/todo":[8,2],"cells/forgotten":[25,2],"todo/1":[28,2,0]},"floors":{"cells":2},"window":{"0":[["c-1",1,1,1795335865744569,"8ae02e304ab880ce",true],["c-2",2,1,1795335865744926,"5365e60cca254341",5],["c-3",3,1,1795335865745114,"b5e3ef0116eb6501",null,true]]}}',4250969006);
INSERT INTO snapshot VALUES('journal',31,0,1,6,'{"heads":{"cells/last":[26,2],"cells/text":[3,1],"cells/count":[2,1],"cells/lamp":[6,2,0],"cells/copy":[11,1],"chat/rooms/1/messages":[20,1],"maps/hosts":[9,1],"readers/mailer":[16,1],"feeds/news":[17,1],"daemon":[23,1],"people/1":[29,2],"chat/rooms/1":[19,1],"threads/1":[30,4],"bindings/k":[10,1],"users/kim":[31,3,0],"lists/todo":[8,2],"cells/forgotten":[25,2],"todo/1":[28,2,0]},"floors":{"cells":2},"window":{"0":[["c-1",1,1,1795335865744569,"8ae02e304ab880ce",true],["c-2",2,1,1795335865744926,"5365e60cca254341",5],["c-3",3,1,1795335865745114,"b5e3ef0116eb6501",null,true]]}}',2885430099);
INSERT INTO snapshot VALUES('lease',26,0,1,1,'{"leases":{},"holders":[],"counts":[],"last":0}',3051190322);
INSERT INTO snapshot VALUES('lease',29,0,1,1,'{"leases":{},"holders":[],"counts":[],"last":0}',3051190322);
INSERT INTO snapshot VALUES('lease',31,0,1,1,'{"leases":{},"holders":[],"counts":[],"last":0}',3051190322);
INSERT INTO snapshot VALUES('lists',26,0,1,1,'{"lists":{"lists/todo":["milk","tea"]}}',3417514406);
INSERT INTO snapshot VALUES('lists',29,0,1,1,'{"lists":{"lists/todo":["milk","tea"]}}',3417514406);
INSERT INTO snapshot VALUES('lists',31,0,1,1,'{"lists":{"lists/todo":["milk","tea"]}}',3417514406);
INSERT INTO snapshot VALUES('locks',26,0,1,1,'{"claims":{},"counts":[]}',3232438668);
INSERT INTO snapshot VALUES('locks',29,0,1,1,'{"claims":{},"counts":[]}',3232438668);
INSERT INTO snapshot VALUES('locks',31,0,1,1,'{"claims":{},"counts":[]}',3232438668);
INSERT INTO snapshot VALUES('maps',26,0,1,1,'{"maps":{"maps/hosts":{"a":1}}}',1221914850);
INSERT INTO snapshot VALUES('maps',29,0,1,1,'{"maps":{"maps/hosts":{"a":1}}}',1221914850);
INSERT INTO snapshot VALUES('maps',31,0,1,1,'{"maps":{"maps/hosts":{"a":1}}}',1221914850);
INSERT INTO snapshot VALUES('people',26,0,1,1,'{"people":{"1":{"id":1,"name":"Kim","color":"#808080"}},"lastID":1}',251088034);
INSERT INTO snapshot VALUES('people',29,0,1,2,'{"people":{"rows":{"1":{"id":1,"name":"Kim","color":"#1e90ff"}},"lastID":1}}',73797688);
INSERT INTO snapshot VALUES('people',31,0,1,2,'{"people":{"rows":{"1":{"id":1,"name":"Kim","color":"#1e90ff"}},"lastID":1}}',73797688);
INSERT INTO snapshot VALUES('readers',26,0,1,1,'{"positions":{"readers/mailer":0}}',589556032);
INSERT INTO snapshot VALUES('readers',29,0,1,1,'{"positions":{"readers/mailer":0}}',589556032);
INSERT INTO snapshot VALUES('readers',31,0,1,1,'{"positions":{"readers/mailer":0}}',589556032);
INSERT INTO snapshot VALUES('scripts',29,0,1,1,'{"texts":{"rows":{}}}',2911717524);
INSERT INTO snapshot VALUES('scripts',31,0,1,1,'{"texts":{"rows":{}}}',2911717524);
INSERT INTO snapshot VALUES('services',26,0,1,1,'{"values":{},"declarations":{},"declarers":{},"declaredBy":[],"calls":{},"parked":{},"queuedBy":[]}',565621076);
INSERT INTO snapshot VALUES('services',29,0,1,1,'{"values":{},"declarations":{},"declarers":{},"declaredBy":[],"calls":{},"parked":{},"queuedBy":[]}',565621076);
INSERT INTO snapshot VALUES('services',31,0,1,1,'{"values":{},"declarations":{},"declarers":{},"declaredBy":[],"calls":{},"parked":{},"queuedBy":[]}',565621076);
INSERT INTO snapshot VALUES('threads',26,0,1,1,'{"threads":{"1":{"id":1,"name":"Tea","posts":[{"id":1,"author":0,"body":"green","likers":[0]}],"lastPost":1,"starter":0}},"lastID":1}',1880836884);
INSERT INTO snapshot VALUES('threads',29,0,1,1,'{"threads":{"1":{"id":1,"name":"Tea","posts":[{"id":1,"author":0,"body":"green","likers":[0]}],"lastPost":1,"starter":0}},"lastID":1}',1880836884);
INSERT INTO snapshot VALUES('threads',31,0,1,2,'{"threads":{"rows":{"1":{"id":1,"name":"Tea","posts":2,"lastPost":2,"starter":0}},"lastID":1},"posts":{"1":[{"id":1,"author":0,"body":"green","likers":[0]},{"id":2,"author":0,"name":"kim","body":"black","likers":[]}]}}',542673728);
INSERT INTO snapshot VALUES('todo',27,0,1,2,'{"items":{"rows":{"1":{"id":1,"title":"bread","done":false}},"lastID":1}}',2366597301);
INSERT INTO snapshot VALUES('todo',29,0,1,2,'{"items":{"rows":{"1":{"id":1,"title":"bread","done":true}},"lastID":1}}',2709227857);
INSERT INTO snapshot VALUES('todo',31,0,1,2,'{"items":{"rows":{"1":{"id":1,"title":"bread","done":true}},"lastID":1}}',2709227857);
INSERT INTO snapshot VALUES('types',31,0,1,1,'{"entries":{}}',2823366809);
INSERT INTO snapshot VALUES('users',26,0,1,1,'{"users":{"kim":{"name":"kim","uid":0,"full_name":"Kim K","about":"x","friends":[]}},"tokens":{},"lastToken":0}',49231099);
INSERT INTO snapshot VALUES('users',29,0,1,1,'{"users":{"kim":{"name":"kim","uid":0,"full_name":"Kim K","about":"x","friends":[]}},"tokens":{},"lastToken":0}',49231099);
INSERT INTO snapshot VALUES('users',31,0,1,2,'{"users":{"rows":{"kim":{"name":"kim","uid":0,"full_name":"Kim K","about":"tea","friends":[]}}},"tokens":{"rows":{},"lastID":0},"names":{"rows":{"0":["kim"]},"lastID":0}}',88610931);
CREATE TABLE journal (
  key   TEXT PRIMARY KEY,
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO journal VALUES('epoch','3f4cb114');
INSERT INTO journal VALUES('first','1');
INSERT INTO journal VALUES('removed:*','21');
INSERT INTO journal VALUES('removed:bindings','10');
INSERT INTO journal VALUES('removed:cells','11');
INSERT INTO journal VALUES('removed:chat','20');
INSERT INTO journal VALUES('removed:feeds','17');
INSERT INTO journal VALUES('removed:lists','8');
INSERT INTO journal VALUES('removed:maps','9');
INSERT INTO journal VALUES('removed:people','12');
INSERT INTO journal VALUES('removed:readers','16');
INSERT INTO journal VALUES('removed:threads','15');
INSERT INTO journal VALUES('removed:users','21');
CREATE TABLE removal (
  first    INTEGER PRIMARY KEY,
  last     INTEGER NOT NULL,
  kept     INTEGER NOT NULL,
  services TEXT NOT NULL
) STRICT;
INSERT INTO removal VALUES(1,21,3,' * bindings cells chat feeds lists maps people readers threads users ');
COMMIT;
