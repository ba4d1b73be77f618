from cluster import *
import tiny_model
class T(ClusterTest):
    @classmethod
    def prepare(cls):
        tiny_model.write(cls.cluster.models/"tiny", dims=8, poisoned=True)
        tiny_model.write(cls.cluster.models/"wide", dims=3072)
        cls.conf = {"summer_memory.model_dir": str(cls.cluster.models)}
    def test_a(self):
        s = self.connect()
        print(s.rows("select * from memory_models"))
        print(s.value("select memory_use_model('tiny')"))
        s.run("insert into memories(content) values ('你好世界'),('hello'),('bad ~'),('dd')")
        print(s.warnings())
        print(s.rows("select id, embedding::text, model from memories"))
        print(s.rows("select * from memory_search('hello')"))
        print(s.value("select memory_use_model('wide')"), s.value("select memory_backfill()"), s.rows("select vector_dims(embedding),model,embed_error from memories"), [n.message_primary for n in s.notices])
